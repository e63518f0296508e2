"""Words as they are counted: in small letters, without punctuation; and the short list of English stop words."""

import re

CLITICS = {"'s", "'re", "'ll", "'ve", "'d", "'m", "'t"}  # as treebanks cut them off
AROUND = re.compile(r"^[\W_]+|[\W_]+$")

# articles, pronouns, prepositions, conjunctions, auxiliaries, negators and the commonest adverbs
_LISTED = """
a an the this that these those each every either neither any some all both no such
i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
it its itself they them their theirs themselves one who whom whose which what
about above across after against along among around as at before behind below beneath beside besides between beyond by
despite down during except for from in inside into like near of off on onto out outside over past since than through
throughout to toward towards under until up upon via with within without
and but or nor so yet if because although though while whereas unless whether when where why how then
am is are was were be been being have has had having do does did doing done can could may might must shall should will
would ought not n't 's 're 'll 've 'd 'm 't
also again already always else ever even just more most much never now only other others own quite rather really same
still there here too very well
"""
STOP_WORDS = frozenset(_LISTED.split())


def tidy(word: str) -> str:
    """A word in small letters without punctuation around it; empty if nothing is left.

    What treebanks cut off ('s, n't) is a word, its apostrophe part of it.
    """
    small = word.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return small if small in CLITICS else AROUND.sub("", small)
