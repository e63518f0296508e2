"""Stanford Natural Language Inference (Bowman et al. 2015): does a caption entail, contradict or leave open another?

Native format: `snli_1.0_{train,dev,test}.jsonl`, one pair a line, with parses.
"""

from pathlib import Path

from whence.data.corpora.shared.nli import LABELS, read_pairs
from whence.data.download.corpus_folder import CorpusFolder
from whence.data.entry import Entry, Source
from whence.data.examples import Corpus
from whence.data.syntax.head_rules import SCHEMES

FILES = {split: f"snli_1.0_{split}.jsonl" for split in ("train", "dev", "test")}
NAMES = {"": "snli", "content": "snli:parsed", "collins": "snli:parsed-collins"}


def load(data_dir: str | Path, trees: str = "") -> Corpus:
    """The pairs on whose label the annotators agreed, from the folder `<data_dir>/snli`.

    With `trees` the premise and the hypothesis of each pair have dependency trees (`heads` and `pair_heads`), made of
    the parses that come with the corpus (by the Stanford parser) by a scheme of `data/head_rules.py`. The pairs are
    those without trees: an encoder of sentences, such as DiSAN, is trained on pairs and looked at in each sentence.

    *Differs from Varano 2019*, whose trees are Stanford dependencies from a dependency parser: `content` is near them.
    """
    folder = CorpusFolder(ENTRY, Path(data_dir) / ENTRY.name)
    splits, notes = {}, []
    for split, name in FILES.items():
        splits[split], skipped = read_pairs(folder.paths(name), trees)
        notes += skipped
    if trees:
        notes.append(f"trees: {SCHEMES[trees]}, of the constituency parses that come with SNLI (Stanford parser)")
    return Corpus(NAMES[trees], splits, LABELS, ENTRY.about, (*folder.notes, *notes))


ENTRY = Entry(
    name="snli",
    about="Stanford Natural Language Inference: a caption and a statement that it entails, contradicts or leaves open",
    licence="CC BY-SA 4.0",
    kind="native",
    load=load,
    variants={"parsed": {"trees": "content"}, "parsed-collins": {"trees": "collins"}},
    url="https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
    files=dict.fromkeys(FILES.values(), ""),
    sources=(
        Source(
            "https://nlp.stanford.edu/projects/snli/snli_1.0.zip",
            "afb3d70a5af5d8de0d9d81e2637e0fb8c22d1235c2749d83125ca43dab0dbd3e",
            tuple(FILES.values()),
        ),
    ),
    substitutes={
        FILES["train"]: ("snli_1.0_train.first100k.jsonl",),
        FILES["dev"]: ("snli_1.0_dev.part2566.jsonl",),
    },
    citation="Bowman et al. (2015). A large annotated corpus for learning natural language inference. EMNLP.",
)
