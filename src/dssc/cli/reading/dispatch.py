"""Reading of samples by the reader that fits the source."""

from pathlib import Path

from dssc.cli.exits import CommandError
from dssc.cli.reading.formats import FORMATS, IMAGE_FOLDER, import_reader, reader_of
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples


def check_exists(path: Path) -> None:
    """Raise an error if there is no such file or folder, or if it is a device or a pipe."""
    if not path.exists():
        raise CommandError(f"there is no file or folder {path}")
    if not path.is_file() and not path.is_dir():
        raise CommandError(f"{path} is a device or a pipe; copy its content to a file")


def read_samples(path: Path, options: ReadOptions | None = None) -> Samples:
    """Read samples from a file or a folder of images."""
    options = options or ReadOptions()
    reader = reader_of(path)
    if reader is None:
        raise CommandError(
            f"{path} ends in {path.suffix.lower() or 'nothing'!r}; "
            f"dssc reads {', '.join(FORMATS)} and folders of images"
        )
    for name in options.given():
        if name not in reader.options:
            raise CommandError(f"--{name} is for {_sources_with(name)}, not for {path}")
    try:
        return reader.read(path, options)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from error


def _sources_with(option: str) -> str:
    """Return the formats to which an option applies, as a text: ".a, .b and .c"."""
    endings = [ending for ending, name in FORMATS.items() if option in import_reader(name).options]
    folders = ["folders of images"] if option in import_reader(IMAGE_FOLDER).options else []
    *first, last = [*endings, *folders]
    return f"{', '.join(first)} and {last}" if first else last
