"""`whence explain MODEL TABLE --out FILE.parquet`: every text of a table explained, a row for each token and method."""

import json
from typing import TYPE_CHECKING

from whence.commands._shared import quieten
from whence.core.errors import BadConfig

if TYPE_CHECKING:
    from whence.commands.explain import Options
    from whence.data.examples import Corpus


def explain_table(options: "Options", form: str) -> int:
    """Explain the texts of a table or corpus, or a single text, into a file of rows."""
    if form != "rows" or options.out is None:
        raise BadConfig(
            f"{options.text} is a table, whose scores go into a file with a row for each token; name it:"
            " --out scores.parquet (or .csv, .jsonl)"
        )
    if options.flow is not None:
        raise BadConfig("a flow is drawn of one text, and this is a table; leave out --flow")
    corpus, single = corpus_of(options)
    quieten()
    from tqdm.auto import tqdm

    from whence.attribution.options import written_options
    from whence.attribution.registry import explainer
    from whence.commands.explain import loaded
    from whence.evaluation.checks import numbered_labels, refuse_unknown
    from whence.evaluation.chosen_examples import chosen_examples
    from whence.explaining.explanation import method_options
    from whence.explaining.score_rows import score_rows
    from whence.results.atomic_write import saving
    from whence.results.write_rows import write_rows

    subject, out = loaded(options), options.out
    split, places = chosen_examples(corpus, options.split, options.limit, options.seed)
    examples, numbers = [corpus[split][place] for place in places], corpus.numbers_of(split, places)
    refuse_unknown(examples, subject)
    for note in () if single else (*corpus.notes, *numbered_labels(examples, subject)):
        options.output.say(f"  {corpus.name}: {note}")
    written = written_options(options.explain.methods, options.options)
    given = options.explain.model_copy(update={"method_options": written})
    methods = {method.replace("-", "_"): explainer(method) for method in given.methods}
    parts = score_rows(
        subject, examples, numbers, given, methods, method_options(given, methods), batch_size=options.batch_size
    )
    shown = tqdm(parts, desc="explain", unit="part", disable=options.output.silent, leave=False, delay=1)
    with saving(out):
        rows = write_rows(out, (part for part in shown))
    texts = "1 text" if len(examples) == 1 else f"{len(examples):,} texts"
    unit = "word" if given.words else "token"
    outcome = {"out": str(out), "rows": rows, "examples": len(examples), "methods": list(methods), "split": split}
    sentence = f"Wrote {out}: {rows:,} rows, one per {unit} and method ({', '.join(methods)}), of {texts}."
    print(json.dumps(outcome) if options.output.json else sentence)
    return 0


def corpus_of(options: "Options") -> "tuple[Corpus, bool]":
    """The table or corpus that is named; a text that names none is a corpus of one text, and that is true then."""
    from whence.commands.explain import is_table
    from whence.data.examples import Corpus, Example
    from whence.data.registry import resolve
    from whence.evaluation.chosen_examples import load_limited

    name = options.text
    if is_table(name) or name.startswith("hub:") or (len(name.split()) == 1 and resolve(name) is not None):
        return (
            load_limited(name, options.data_dir, options.columns, options.split, options.limit, options.seed),
            False,
        )
    example = Example(name, pair=options.explain.pair)
    return Corpus("the text", {"test": (example,)}), True
