"""Reading of samples by the reader that fits the source."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dssc.cli.exits import CommandError
from dssc.cli.reading.formats import FORMATS, IMAGE_FOLDER, ending_of, import_reader, reader_of
from dssc.cli.reading.image_folder import image_names, is_image, read_images
from dssc.cli.reading.joining import join_samples
from dssc.cli.reading.reader import ReadOptions
from dssc.cli.reading.samples import Samples
from dssc.cli.reading.sources import STANDARD
from dssc.cli.reading.standard_input import read_standard_input


def read_sources(sources: Sequence[Path], options: ReadOptions | None = None) -> Samples:
    """Read samples from one source, or from several one after the other."""
    options = options or ReadOptions()
    if list(sources) == [STANDARD]:
        return read_standard_input(lambda path: read_samples(path, options))
    if len(sources) == 1 and not is_image(sources[0]):
        return read_samples(sources[0], options)
    if all(source.is_dir() or is_image(source) for source in sources):
        return _read_image_files(sources, options)
    return join_samples([read_samples(source, options) for source in sources])


def read_samples(path: Path, options: ReadOptions | None = None) -> Samples:
    """Read samples from a file or a folder of images."""
    options = options or ReadOptions()
    reader = reader_of(path)
    if reader is None:
        raise CommandError(
            f"{path} ends in {ending_of(path) or 'nothing'!r}; "
            f"dssc reads {', '.join(FORMATS)} and folders of images"
        )
    _check_options(options, reader.options, str(path))
    try:
        return reader.read(path, options)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}") from error


def _read_image_files(sources: Sequence[Path], options: ReadOptions) -> Samples:
    """Read image files and folders together; the labels "folders" are the folders they are in."""
    _check_options(options, import_reader(IMAGE_FOLDER).options, "images")
    paths = [
        path
        for source in sources
        for path in (
            [source / name for name in image_names(source)] if source.is_dir() else [source]
        )
    ]
    source = f"{sources[0]} and {len(sources) - 1} more" if len(sources) > 1 else str(sources[0])
    samples = read_images(source, paths, [path.as_posix() for path in paths], options)
    if options.labels == "folders":
        samples.labels = np.array([Path(name).parent.name for name in samples.names or ()])
    return samples


def _check_options(options: ReadOptions, known: Sequence[str], source: str) -> None:
    for name in options.given():
        if name not in known:
            flag = name.replace("_", "-")
            raise CommandError(f"--{flag} is for {_sources_with(name)}, not for {source}")


def _sources_with(option: str) -> str:
    """Return the formats to which an option applies, as a text: ".a, .b and .c"."""
    endings = [ending for ending, name in FORMATS.items() if option in import_reader(name).options]
    folders = ["folders of images"] if option in import_reader(IMAGE_FOLDER).options else []
    *first, last = [*endings, *folders]
    return f"{', '.join(first)} and {last}" if first else last
