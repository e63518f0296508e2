"""Explaining single texts: several methods side by side, documents, head importance, the flow diagram."""
