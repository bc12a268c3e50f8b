"Lets pip install the package; everything it says comes from settings.ini."
import shutil
from configparser import ConfigParser
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

here = Path(__file__).parent
parser = ConfigParser(delimiters=['='])
parser.read(here/'settings.ini', encoding='utf-8')
cfg = parser['DEFAULT']
min_python = cfg['min_python']
readme = here/'README.md'

def copy_data(folder):
    "The embedded world, its base model and the adapters, and nothing else that may lie beside them."
    shutil.rmtree(folder, ignore_errors=True)
    kinds = 'questions/*.json', 'databases/*/*.sqlite', 'models/*-spider/*', 'models/embedded-base/*'
    for file in [f for kind in kinds for f in here.glob(f'data/{kind}')]:
        to = Path(folder)/file.relative_to(here/'data')
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, to)

class BuildWithData(build_py):
    "The package, and its data in it; a checkout has that beside it."
    def run(self):
        super().run()
        if not getattr(self, 'editable_mode', False): copy_data(Path(self.build_lib)/cfg['lib_path']/'data')

class SourceWithData(sdist):
    "The sources, with what this file reads."
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copy(here/'settings.ini', base_dir)
        copy_data(Path(base_dir)/'data')

setup(
    name=cfg['lib_name'], version=cfg['version'], description=cfg['description'], keywords=cfg['keywords'],
    author=cfg['author'], author_email=cfg['author_email'], url=cfg['git_url'], license='MIT',
    long_description=readme.read_text(encoding='utf-8') if readme.exists() else '',
    long_description_content_type='text/markdown',
    classifiers=['Development Status :: 3 - Alpha', 'Intended Audience :: Developers',
                 'Natural Language :: English', f'Programming Language :: Python :: {min_python}'],
    packages=find_packages(include=[cfg['lib_path'], cfg['lib_path'] + '.*']), package_data={'': ['*.jinja', '*.txt']}, zip_safe=False,
    cmdclass={'build_py': BuildWithData, 'sdist': SourceWithData},
    python_requires=f'>={min_python}',
    install_requires=cfg['requirements'].split(),
    extras_require={'dev': (cfg['dev_requirements'] + ' ' + cfg['serve_requirements']).split(),
                    **{extra: cfg[f'{extra}_requirements'].split() for extra in ('serve', 'vllm', 'postgres', 'duckdb', 'mysql')}},
    entry_points={'console_scripts': cfg['console_scripts'].split(),
                  'nbdev': [f"{cfg['lib_path']}={cfg['lib_path']}._modidx:d"]})
