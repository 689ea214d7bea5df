"""The README as an index of packages shows it."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class ReadmeHook(MetadataHookInterface):
    """Makes links absolute, and installs by name: an index page has no files beside it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the README, with links to the files of this version and the name of the package."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        source = f"{metadata['urls']['Source']}/{{}}/v{metadata['version']}/"
        text = re.sub(r"(!\[[^\]]*\]\()(?!\w+:)", rf"\1{source.format('raw')}", text)
        text = re.sub(r"((?<!!)\[[^\]]*\]\()(?!\w+:)", rf"\1{source.format('blob')}", text)
        text = re.sub(r"(?<=pip install )('?)\.(?=\s|\[)", rf"\1{metadata['name']}", text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
