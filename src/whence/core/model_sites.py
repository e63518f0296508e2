"""The sites of a model: their names, in the order in which they run, and whether they are still all of them."""

from dataclasses import replace
from fnmatch import fnmatchcase

from torch import nn

from whence.core.errors import CannotAttend, UnknownSite
from whence.core.site import AttentionSite, Site

SITE_ATTRIBUTE = "attention_site"  # the child that adoption gives an attention module; not part of a site's name
ADOPTED = "_whence_adopted"  # on a model whose every attention was given a site: the modules that have one


def sites(model: nn.Module) -> dict[str, Site]:
    """The attention sites of a model by name, in execution order."""
    return {site.name: site for _, site, _ in site_calls(model)}


def site_module(model: nn.Module, name: str) -> tuple[AttentionSite, Site, int]:
    """The one site that matches a name or glob: its module, description, and which call of a shared module it is."""
    everywhere = site_calls(model)
    hits = [hit for hit in everywhere if hit[1].name == name or fnmatchcase(hit[1].name, name)]
    if len(hits) != 1:
        if hits:
            raise ValueError(f"expected one site; {name!r} matches {len(hits)}: {', '.join(h[1].name for h in hits)}")
        raise UnknownSite(name, [site.name for _, site, _ in everywhere])
    return hits[0]


def calls_of_sites(model: nn.Module) -> dict[AttentionSite, tuple[Site, ...]]:
    """Every site of the model with the name and layer of each of its calls."""
    found: dict[AttentionSite, tuple[Site, ...]] = {}
    for module, site, _ in site_calls(model):
        found[module] = (*found.get(module, ()), site)
    return found


def site_calls(model: nn.Module) -> list[tuple[AttentionSite, Site, int]]:
    """Every call of every site in execution order: the module, the name and layer of the call, and its number."""
    modules = [(name, module) for name, module in model.named_modules() if isinstance(module, AttentionSite)]
    moments = [
        (module.order[call] if module.order else place, _name(path, call, module.calls), module, call)
        for place, (path, module) in enumerate(modules)
        for call in range(module.calls)
    ]
    layers: dict[str, int] = {}
    found = []
    for _, name, module, call in sorted(moments, key=lambda moment: moment[0]):
        site = Site(name, 0, module.kind, module.keys)
        layers[site.stack] = layers.get(site.stack, -1) + 1
        found.append((module, replace(site, layer=layers[site.stack]), call))
    return found


def _name(path: str, call: int, calls: int) -> str:
    path = path.removesuffix(SITE_ATTRIBUTE).removesuffix(".") or SITE_ATTRIBUTE
    return path if calls == 1 else f"{path}#{call}"


def hosts(model: nn.Module) -> list[nn.Module]:
    """The modules that adoption has given a site."""
    return [module for module in model.modules() if SITE_ATTRIBUTE in module._modules]


def refuse_changed(model: nn.Module) -> None:
    """Refuse a model whose layers were replaced since it was adopted: a new one would be passed over in silence."""
    for name, module in model.named_modules():
        adopted = module.__dict__.get(ADOPTED)
        if adopted is None:
            continue
        if set(hosts(module)) != set(adopted):
            raise CannotAttend(
                f"{name or type(model).__name__} has other layers than when it was adopted (a layer was replaced,"
                " removed or shared): some of its attention may have no site; call adopt(model) again"
            )
