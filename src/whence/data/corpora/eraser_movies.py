"""Movie Reviews with rationales (Zaidan et al. 2007), in the form of ERASER (DeYoung et al. 2020).

Native format: an archive with `movies/{train,val,test}.jsonl`, an annotation a line with `annotation_id`,
`classification` (NEG, POS) and `evidences`, lists of spans with `docid`, `start_token` and `end_token`; and
`movies/docs/<docid>`, reviews in words, a sentence a line.
"""

import json
from pathlib import Path
from typing import Any

from whence.core.errors import BadData
from whence.data.download.archives import each_member
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus, Example

ARCHIVE = "movies.tar.gz"
SPLITS = {"train": "train", "dev": "val", "test": "test"}
LABELS = {"NEG": "negative", "POS": "positive"}


def load(data_dir: str | Path) -> Corpus:
    """The reviews, from the folder `<data_dir>/eraser_movies`; the rationale marks the words of all evidence spans."""
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    path = folder.paths(ARCHIVE)[0]
    lines: dict[str, list[str]] = {}
    documents: dict[str, tuple[str, ...]] = {}
    for name, content in each_member(path, lambda name: name.endswith(".jsonl") or "/docs/" in name):
        last = name.rpartition("/")[2]
        if name.endswith(".jsonl"):
            lines[last.removesuffix(".jsonl")] = content.decode("utf-8").split("\n")
        else:
            documents[last] = tuple(word.decode("utf-8", "replace") for word in content.split())
    absent = [f"{native}.jsonl" for native in SPLITS.values() if native not in lines]
    if absent:
        raise BadData(f"{path} has no {', '.join(absent)}; the archive of ERASER's Movie Reviews was expected")
    splits = {
        split: tuple(annotated(line, documents, f"{path}, {native}.jsonl") for line in lines[native] if line.strip())
        for split, native in SPLITS.items()
    }
    return Corpus("eraser_movies", splits, tuple(LABELS.values()), ENTRY.about, tuple(folder.notes))


def annotated(line: str, documents: dict[str, tuple[str, ...]], where: str) -> Example:
    """A review with its label and rationale."""
    try:
        row: dict[str, Any] = json.loads(line)
        spans = [span for group in row["evidences"] for span in group]
        name = spans[0]["docid"] if spans else row["annotation_id"]
        words, label = documents[name], LABELS[row["classification"]]
        bounds = [(int(span["start_token"]), int(span["end_token"])) for span in spans if span["docid"] == name]
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise BadData(
            f"{where}: an annotation with classification NEG or POS and evidences of a document in docs/ was expected"
            f" ({type(error).__name__}: {error})"
        ) from error
    if any(not 0 <= start <= end <= len(words) for start, end in bounds):
        raise BadData(f"{where}: {name} has {len(words)} words, and evidence beyond them")
    marks = [False] * len(words)
    for start, end in bounds:
        marks[start:end] = [True] * (end - start)
    return Example(" ".join(words), label, words=words, rationale=tuple(marks))


ENTRY = Entry(
    name="eraser_movies",
    about="Movie Reviews of ERASER: film reviews, negative or positive, with the phrases that decide marked by people",
    licence="none stated by its makers",
    kind="native",
    load=load,
    url="https://www.eraserbenchmark.com/zipped/movies.tar.gz",
    files={ARCHIVE: ""},
    sources=(Source("https://www.eraserbenchmark.com/zipped/movies.tar.gz", keep=ARCHIVE),),
    citation="Zaidan, Eisner & Piatko (2007). Using Annotator Rationales to Improve Machine Learning. NAACL; DeYoung "
    "et al. (2020). ERASER: A Benchmark to Evaluate Rationalized NLP Models. ACL.",
)
