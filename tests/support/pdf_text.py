"""The text of a PDF file that Chromium printed, page by page."""

import re
import zlib


def page_texts(content):
    """Return the text of every page, without the spaces, in the order in which it is drawn."""
    objects = {
        int(number): body
        for number, body in re.findall(rb"(?<!\d)(\d+) 0 obj\n(.*?)\nendobj", content, re.DOTALL)
    }
    pages = [body for body in objects.values() if re.search(rb"/Type /Page\b(?!s)", body)]
    fonts = {name: int(number) for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", content)}
    characters = {name: _characters(objects, number) for name, number in fonts.items()}
    return [_page_text(_stream(objects, page, b"Contents"), characters) for page in pages]


def _stream(objects, body, name):
    number = int(re.search(rb"/%s (\d+) 0 R" % name, body)[1])
    packed = re.search(rb"stream\r?\n(.*)\r?\nendstream", objects[number], re.DOTALL)[1]
    return zlib.decompressobj().decompress(packed)


def _characters(objects, font):
    """Return the character of each glyph of a font."""
    characters = {}
    table = _stream(objects, objects[font], b"ToUnicode")
    for glyph, code in re.findall(rb"^<(\w{4})> <(\w{4})>$", table, re.MULTILINE):
        characters[int(glyph, 16)] = chr(int(code, 16))
    for first, last, code in re.findall(rb"^<(\w{4})> <(\w{4})> <(\w{4})>$", table, re.MULTILINE):
        for glyph in range(int(first, 16), int(last, 16) + 1):
            characters[glyph] = chr(int(code, 16) + glyph - int(first, 16))
    return characters


def _page_text(drawn, characters):
    text, glyphs = [], {}
    for font, codes in re.findall(rb"/(F\d+) [\d.]+ Tf|<(\w+)> Tj", drawn):
        if font:
            glyphs = characters[font]
        else:
            text += [glyphs[int(codes[i : i + 4], 16)] for i in range(0, len(codes), 4)]
    return "".join("".join(text).split())
