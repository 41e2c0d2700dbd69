#!/bin/sh
# Fill /opt/modelexport, a virtual environment, from a locked requirements file: install.sh FILE [OPTION…]
#
# One layer, and nothing of the installer stays in it. Our own package comes by a path file, so that
# it is a layer of its own and a change of code leaves the dependencies' layer in a node's cache.
set -eu
requirements=$1
shift
python3 -m venv /opt/uv
/opt/uv/bin/python -m pip install --quiet --no-cache-dir --require-hashes -r "$(dirname "$0")/build.txt"
python3 -m venv --without-pip /opt/modelexport
/opt/uv/bin/uv pip install --quiet --no-cache --python /opt/modelexport/bin/python \
  --require-hashes -r "$requirements" "$@"
echo /opt/package > "$(/opt/modelexport/bin/python -c 'import site; print(site.getsitepackages()[0])')/modelexport.pth"
rm -rf /opt/uv
