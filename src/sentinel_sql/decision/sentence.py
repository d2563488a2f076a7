"""Stub."""
class Claims:
    text = ""
    @classmethod
    def read(cls, text): 
        c = cls(); c.text = text; return c
    def missing_in(self, seen, *, question, sql): return ()
