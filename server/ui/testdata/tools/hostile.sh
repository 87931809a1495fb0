#!/bin/sh
# What a page may say to break out of where it is shown.
cat <<'EOF'
{"title": "<img src=x onerror=alert(1)><script>alert(2)</script>",
 "link": "http://192.0.2.1/pixel.png",
 "markdown": "![x](http://192.0.2.1/pixel.png) [click](javascript:alert(3))",
 "control": "\u001b[31mred\u001b[0m \u202egnp.exe\u202c a\u200bb"}
EOF
