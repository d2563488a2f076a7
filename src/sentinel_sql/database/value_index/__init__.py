"""An index of the names, codes and labels that a database stores."""
