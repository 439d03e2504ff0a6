"""How the tutor is served to others: by several processes behind nginx, in containers, in a cluster."""
