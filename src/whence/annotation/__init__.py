"""Human evaluation of explanations: items drawn and blinded, annotators' answers, other tools' formats, simulations."""
