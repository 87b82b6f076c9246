"""Write every figure into `content/`."""

from __future__ import annotations

from pathlib import Path

from .catalogue import FIGURES

ROOT = Path(__file__).parent.parent.parent


def main() -> None:
    for path, draw in FIGURES.items():
        (ROOT / "content" / path).write_text(draw(), encoding="utf-8")
        print(f"content/{path}")


if __name__ == "__main__":
    main()
