"""The words of the documentation, docstrings, comments and messages: those that a glossary has.

`docs/pages/glossary.md` has the words to use. `WORDS` has those that stood in their place, each in
the contexts in which a reader of the field stumbles over it.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.any_version

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "balframe").rglob("*.py"))
PAGES = [*ROOT.glob("*.md"), *sorted((ROOT / "docs" / "pages").rglob("*.md"))]

# Names of last resort: participles and numerals, which do not say what they name.
VAGUE_NAMES = {"asked", "counted", "found", "given", "held", "known", "one", "said", "shown"}


@dataclass(frozen=True)
class Word:
    """Words to avoid, as a pattern, and what to write instead.

    Prose is in lower case, with single spaces, and code in it is `_`. The pattern is searched only
    where one of the `stems` occurs, which are separated by bars. `allowed` are phrases in which the
    words are right.
    """

    stems: str
    pattern: str
    instead: str
    example: str
    allowed: tuple[str, ...] = ()

    def matches(self, prose: str) -> Iterator[re.Match[str]]:
        """Find the words in prose, outside of the allowed phrases."""
        for phrase in self.allowed:
            prose = re.sub(_spaced(phrase), lambda match: "_" * len(match[0]), prose)
        return re.finditer(_spaced(self.pattern), prose)


def _spaced(pattern: str) -> str:
    return pattern.replace(" ", r"\s+")


WORDS = (
    Word(
        "verb",
        r"\bverbs?\b",
        "method",
        "Every verb returns a frame.",
        ("verbs for functions", "subject with its verb", "the noun and the verb"),
    ),
    Word(
        " apart",
        r"\bt(?:ell|ells|old|elling)(?: [\w,]+){0,4} apart\b",
        "distinguish, identify",
        "The key tells the rows of a model apart.",
    ),
    Word(
        "tell ",
        r"\btell (?:what|whether|how|which|that|where|why|if|less|more|the|it|them|of)\b(?! apart)",
        "show, identify",
        "A few rows tell which labels occur.",
    ),
    Word(
        "tells ",
        r"\btells (?:what|whether|how|which|that|where|why|if|less|more|the|it|them|of)\b",
        "shows, identifies",
        "The column tells which rows were left out.",
    ),
    Word(
        "images of|images under|image of|are images",
        r"\b(?:is|as|are|by) (?:its |their |an |the )?images?(?: of)?\b"
        r"|\bimages? (?:of|under) (?:the |a )?(?:limit|score|interval|mean|map)s?\b",
        "transform",
        "Limits of informedness are images of those of balanced accuracy.",
    ),
    Word("doubts", r"\bdoubts\b", "warnings", "The result has a list of doubts."),
    Word("alike", r"\balike\b", "equal, in the same way", "Are all segments alike?"),
    Word(
        "room",
        r"\brooms?\b",
        "interval, memory, space, tolerance",
        "Every thread takes room.",
        ("makes room for", "leave room"),
    ),
    Word(
        "let |lets |letting ",
        r"\blet(?:s|ting)?(?: \w+){0,3} pass\b",
        "accept",
        "The check lets wrong rows pass.",
    ),
    Word(
        "by hand",
        r"[\"“]by hand[\"”]|\b(?:queries|loops?|code|counts?|items|that|than|those) by hand\b",
        "your own code, manually",
        "The queries by hand count two numbers.",
    ),
    Word(
        "hang on|hangs on|hanging on|hang little on|hangs little on",
        r"\bhang(?:s|ing)?(?: little)? on\b",
        "depend",
        "It hangs little on the weights.",
    ),
    Word(
        "call",
        r"\bcalls? (?:all|every|each|a row|a random|rows|no|most)\b[\w, ]*(?:posi|nega)tive\b"
        r"|\b(?:positive|negative|correct) calls?\b",
        "predict, prediction",
        "A model calls every row positive.",
    ),
    Word(
        " open",
        r"\b(?:leave|leaves|left|leaving)(?: \w+)? open\b",
        "do not decide, leave undecided; the confidence interval",
        "The interval is what the data leave open.",
    ),
    Word(
        " rests",
        r"\b(?:the|their|all|of) rests\b",
        "complement",
        "Class counts of the rests.",
    ),
    Word(
        "answer",
        r"\bsame answers\b|\bchanges? an answer\b|\banswers of (?:\w+ ){0,2}methods\b"
        r"|\bwhat an answer costs\b",
        "result",
        "Both engines give the same answers.",
    ),
    Word(
        "among the ways|way pays|way loops|every way|by way of",
        r"\bamong the ways\b|\bway (?:pays|loops)\b|\bforces every way\b|\bby way of\b",
        "strategy; by, through",
        "Choose among the ways by their speed.",
    ),
    Word(
        "rows carr|they carr|each carr",
        r"\b(?:rows|they|each) carr(?:y|ies|ied)\b(?! as much| no )",
        "values, counts, weights",
        "Add up what the rows carry.",
    ),
    Word(
        "what is |what was |what are |what were ",
        r"\bwhat (?:is|was|are|were) (?:asked|held|counted|shown|found|known|said)\b",
        "request, values, cells, result: a noun",
        "Compute what is asked for.",
    ),
    Word(
        "than those |among those |in those ",
        r"\b(?:than|among|in) those (?:asked|found|given|counted|shown|held)\b(?! by| to| in)",
        "those of the request, those of the result",
        "Labels other than those counted.",
    ),
    Word(
        "the asked|the found|the held|the shown|the given|the said",
        r"\bthe (?:asked|found|held|shown|given|said)(?= (?:is|are|has|have|of|with)\b|[.,;:)])",
        "request, result: a noun",
        "Compare the found with the expected.",
    ),
    Word(
        "shown to ",
        r"\b(?:is|are|was|were) shown to (?:be|differ)\b",
        "significantly, established",
        "The group is shown to be worse.",
    ),
    Word("for want of", "for want of", "because it lacks", "Left out for want of a label."),
    Word(
        " wants ",
        r"\b(?:that|which|it|method|metric|chart|engine|option|rule|code) wants\b",
        "needs",
        "A metric that wants a positive label.",
    ),
    Word(
        "_ says |_ say |columns say|columns that say|column says|column that says",
        r"(?:_|\bcolumns?(?: _)?(?: that)?) says? (?:which|how|whether|what|who|why|of|by|so)\b",
        "show, identify; is, has",
        "The column that says which rows belong together.",
    ),
    Word(
        "is no |are no ",
        r"\b(?:it|that|which|this|they|_) (?:is|are) no (?!(?:longer|evidence|more|less|better"
        r"|worse|larger|smaller|higher|lower|further|wider|narrower|closer)\b)",
        "is not a",
        "An empty text, which is no file.",
    ),
    Word(
        "allow to|allows to|permit to|permits to|enable to|enables to|suggest to|recommend to",
        r"\b(?:allow|permit|enable|suggest|recommend)s? to [a-z]",
        "allow you to; make it possible to",
        "The law allows to leave them out.",
    ),
    Word(
        "less rows|less labels|less segments|less clusters|less columns|less errors|less tests",
        r"\bless (?:rows|labels|segments|clusters|columns|errors|tests)\b",
        "fewer",
        "A segment of less rows.",
    ),
    Word(
        "amount of|amounts of",
        r"\bamounts? of (?:rows|labels|segments|clusters|columns|values|errors|tests)\b",
        "number of",
        "The amount of rows.",
    ),
    Word(
        "informations|evidences|softwares|feedbacks|researches|resp.",
        r"\b(?:informations|evidences|softwares|feedbacks|researches)\b|\bresp\.",
        "the singular; respectively",
        "The softwares of this page.",
    ),
)

_FENCE = re.compile(r"^([ \t]*)(```+|~~~+).*?^\1\2[ \t]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"``[^`]+``|`[^`\n]+(?:\n[^`\n]+)?`|\{[^{}\n]*\}|<[^<>\n]+>")
_TARGET = re.compile(r"\]\([^()\s]*\)")
_DOCTEST = re.compile(r"^[ \t]*>>> .*(?:\n[ \t]*\S.*)*", re.MULTILINE)
_COMMENT = re.compile(r"(?:^|  )[ \t]*# (.*)")
_VAGUE = re.compile(
    r"^\s*(?:(?:async )?def |class )?(?:\w+, )*_?(?:NAMES)(?:, \w+)*(?: [=:]|:|\()"
    r"|\b(?:for|lambda|as) \(?(?:\w+, )*(?:NAMES)\b.*:|\bfor (?:\w+, )*(?:NAMES)\b.* in "
    r"|def \w+\(.*\b(?:NAMES)[:=,)]".replace("NAMES", "|".join(sorted(VAGUE_NAMES))),
    re.MULTILINE,
)
_QUOTES_AND_HASHES = str.maketrans("\"'#", "   ")


def _blanked(match: re.Match[str]) -> str:
    return "_" + "\n" * match[0].count("\n")


def markdown_prose(page: str) -> list[tuple[int, str]]:
    """Return the prose of a page, with code as `_`, and its first line."""
    return [(1, _CODE.sub(_blanked, _TARGET.sub("]", _FENCE.sub(_blanked, page))))]


def python_prose(source: str) -> list[tuple[int, str]]:
    """Return docstrings, messages and comments of a module, and the line at which each begins."""
    prose, strings, parts = [], [], set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            texts = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
            parts.update(map(id, node.values))
            prose.append((node.lineno, "".join(texts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node)
    prose += [(string.lineno, string.value) for string in strings if id(string) not in parts]
    for line, text in enumerate(source.split("\n"), start=1):
        if comment := _COMMENT.search(text):
            prose.append((line, comment[1]))
    return [
        (line, _CODE.sub(_blanked, _DOCTEST.sub(_blanked, text)))
        for line, text in prose
        if " " in text.strip()
    ]


def _words_in(source: str) -> list[Word]:
    """Return the words that may be in the prose of a file, so that few modules are parsed."""
    text = source.lower().translate(_QUOTES_AND_HASHES)
    text = " ".join(text.replace("`", "_").split()).replace(" f ", " ")
    words = [word for word in WORDS if any(stem in text for stem in word.stems.split("|"))]
    return [word for word in words if any(True for _ in word.matches(text))]


def findings(path: str, source: str) -> list[str]:
    """Return where a file has words to avoid, and what to write instead."""
    words = _words_in(source)
    if not words:
        return []
    prose = markdown_prose(source) if path.endswith(".md") else python_prose(source)
    return [
        f"{path}:{line + text.count(chr(10), 0, match.start())}: "
        f"{' '.join(match[0].split())!r}; write {word.instead}"
        for line, text in prose
        for word in words
        for match in word.matches(text.lower())
    ]


def vague_names(path: str, source: str) -> list[str]:
    """Return the functions, classes, parameters and variables with names of `VAGUE_NAMES`."""
    if not _VAGUE.search(source):
        return []
    names = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append((node.lineno, node.name))
        elif isinstance(node, ast.arg):
            names.append((node.lineno, node.arg))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append((node.lineno, node.id))
    return [
        f"{path}:{line}: {name}" for line, name in names if name.strip("_").lower() in VAGUE_NAMES
    ]


def test_words_to_avoid_are_not_used():
    files = [
        (file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in SOURCES + PAGES
    ]

    assert [finding for file in files for finding in findings(*file)] == []


def test_names_say_what_they_name():
    files = [(file.relative_to(ROOT).as_posix(), file.read_text("utf-8")) for file in SOURCES]

    assert [name for file in files for name in vague_names(*file)] == []


def test_each_word_finds_its_example_and_not_what_to_write_instead():
    wrong = [
        word.example
        for word in WORDS
        if len(findings("page.md", word.example)) != 1
        or len(findings("module.py", f'"""{word.example}"""')) != 1
        or any(True for _ in word.matches(word.instead.lower()))
    ]

    assert wrong == []


def test_words_are_found_in_pages_docstrings_comments_and_messages():
    module = '''"""Compare segments.

Each verb returns a frame, as `verb` does.

>>> print("a verb")
a verb
"""

VERB = "verb"  # the verb of the call


def method(verb):
    raise ValueError(
        f"column {verb} wants a type, which "
        f"wants a column {verb}: all rows are "
        "alike"
    )
'''
    page = "# Verbs\n\n```python\nverb = alike\n```\n\nRows that\nare `alike` tell\nwhich: alike.\n"

    assert sorted(place.partition("; ")[0] for place in findings("module.py", module)) == [
        "module.py:14: 'alike'",
        "module.py:14: 'which wants'",
        "module.py:3: 'verb'",
        "module.py:9: 'verb'",
    ]
    assert sorted(place.partition("; ")[0] for place in findings("page.md", page)) == [
        "page.md:1: 'verbs'",
        "page.md:8: 'tell which'",
        "page.md:9: 'alike'",
    ]


def test_allowed_phrases_are_no_findings():
    assert findings("page.md", "Nouns for things, verbs for functions.") == []
    assert len(findings("page.md", "Nouns for things, verbs for functions and other verbs.")) == 1


def test_vague_names_are_found_where_names_are_made():
    module = """
def held(asked, table: int):
    known = [one for one in table]
    for i, found in enumerate(table):
        print(given=i, shown=known.said)


class _Counted:
    asked_for: int
    shown: int
"""

    assert sorted(vague_names("module.py", module)) == [
        "module.py:10: shown",
        "module.py:2: asked",
        "module.py:2: held",
        "module.py:3: known",
        "module.py:3: one",
        "module.py:4: found",
        "module.py:8: _Counted",
    ]
    assert vague_names("module.py", "print(one=1, found=frame.held)") == []
