"""Writes the reference: `python -m reference`."""

from __future__ import annotations

from reference.pages import FOLDER, texts


def main() -> None:
    """Write each page that has changed, and delete pages that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    pages = texts()
    for path in FOLDER.glob("*.md"):
        if path.name not in pages:
            path.unlink()
            print(f"deleted {path.name}")
    for name, text in pages.items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")


if __name__ == "__main__":
    main()
