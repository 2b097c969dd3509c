"""What is written in a picture or on a scanned page, by rapidocr: the extra knowbase[ocr].

Everything here runs in a child that can be killed; its models come with the package.
"""

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from knowbase.errors import ReadError
from knowbase.process import report_to_nobody
from knowbase.read.lines import Piece, lines_of

if TYPE_CHECKING:
    import numpy as np

LONGEST_SIDE = 2000  # pixels: what the engine looks at
FINEST = 300 / 72  # pixels of a point of a PDF
MOST_THREADS = 4
_SURE = 0.5  # what the engine is less sure of is no text


def scan_for_parent(facts: Mapping[str, Any], data: bytes) -> str:
    """The text of one page of a PDF or a picture."""
    page = int(facts["page"])
    pixels = _of_pdf(data, page) if facts["type"] == "pdf" else _of_image(data, page)
    found = _engine()(pixels)
    if found.boxes is None or not found.txts:
        return ""
    seen = zip(found.boxes, found.txts, found.scores, strict=True)
    lines = lines_of([_piece(box, text) for box, text, sure in seen if sure >= _SURE])
    return "".join(line + "\n" for line in lines)


def threads() -> int:
    """How many look at one page."""
    return min(MOST_THREADS, os.cpu_count() or 1)


@cache
def _engine() -> Any:
    report_to_nobody()
    import cv2
    from rapidocr import RapidOCR

    cv2.setNumThreads(threads())
    runtime = "EngineConfig.onnxruntime"
    return RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.max_side_len": LONGEST_SIDE,
            f"{runtime}.intra_op_num_threads": threads(),
            f"{runtime}.inter_op_num_threads": 1,
        }
    )


def _piece(box: Any, text: str) -> Piece:
    across, down = [float(point[0]) for point in box], [float(point[1]) for point in box]
    return Piece(text.strip(), min(across), min(down), max(across), max(down))


def _of_pdf(data: bytes, number: int) -> "np.ndarray[Any, Any]":
    import pypdfium2

    document = pypdfium2.PdfDocument(data)
    try:
        page = document[number - 1]
        scale = min(FINEST, LONGEST_SIDE / max(*page.get_size(), 1.0))
        pixels: np.ndarray[Any, Any] = page.render(scale=scale).to_numpy().copy()
        return pixels
    finally:
        document.close()


def _of_image(data: bytes, page: int) -> "np.ndarray[Any, Any]":
    """As a person sees it: turned as the camera was held, on white, of some only the beginning."""
    import io

    import numpy as np
    from PIL import Image, ImageOps

    try:
        with Image.open(io.BytesIO(data)) as image:
            if page > 1:
                image.seek(page - 1)
            image.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))  # a JPEG need not be unpacked whole
            turned = ImageOps.exif_transpose(image)
            turned.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
            seen = turned.convert("RGBA")
            white = Image.new("RGBA", seen.size, "white")
            white.alpha_composite(seen)
            return np.asarray(white.convert("RGB"))[:, :, ::-1].copy()  # blue first
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise ReadError("The image is damaged and cannot be read.") from error
