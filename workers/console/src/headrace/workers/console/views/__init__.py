"""How answers look: the JSON documents, whose fields only ever grow in number, and the tables for people."""
