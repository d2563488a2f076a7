"""Files that appear whole, logs that outlive their writer, folders of arrays without code."""
