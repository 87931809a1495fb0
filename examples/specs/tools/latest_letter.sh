#!/bin/sh
# A letter with things in it that are not the model's business.
cat <<'END'
Dear shop, my parcel has not come. Write to ada@example.org.
END
