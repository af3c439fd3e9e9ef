"""Violations, each an edit of the clean tree, with the rule that it must turn red and words of the sentence."""

from dataclasses import dataclass
from typing import override

from tools.tests.arch_check.trees import OM, SQL, VERSIONS

_WORK_STORAGE = f"{OM}/work/storage/__init__.py"
_WORK_MANAGER = f"{OM}/work/impl/manager.py"
_TABLES = f"{OM}/tenancy/storage/tables/rows.py"
_ITEMS_SQL = f"{SQL}/queue/202611300901_items.up.sql"
_LONG = "\n".join(f"x{number} = {number}" for number in range(301)) + "\n"
_BIG_FUNCTION = "def big():\n" + "".join(f"    x{number} = {number}\n" for number in range(50))
_WIDE = "class WideInterface(ABC):\n" + "".join(
    f'    @abstractmethod\n    def m{number}(self) -> None:\n        """Do it."""\n        ...\n'
    for number in range(13)
)


@dataclass(frozen=True)
class Plant:
    """One violation: in `path`, `old` becomes `new`; without `old` the file is written whole."""

    rule: str
    what: str
    path: str
    new: str
    old: str = ""
    says: str = ""

    @override
    def __str__(self) -> str:
        return f"{self.rule} {self.what}"


CONTEXT_PLANTS = (
    Plant("CTX-12", "no tenant", _WORK_STORAGE, "item_id: UUID)", "org_id: UUID, item_id: UUID)", "must take org_id"),
    Plant("CTX-12", "tenant not first", _WORK_STORAGE, "item_id: UUID, org_id: UUID", "org_id: UUID, item_id: UUID"),
    Plant("CTX-12", "tenant of another type", _WORK_STORAGE, "org_id: str, item", "org_id: UUID, item"),
    Plant("CTX-12", "no reason given", _WORK_STORAGE, "any lane", "any tenant", "docstring must say why"),
    Plant("CTX-12", "listed with tenant", _WORK_STORAGE, "org_id: UUID, lane", "lane", "off the list"),
    Plant("CTX-12", "listed, unknown", "pyproject.toml", '_next", "A.b"]', '_next"]', "no storage interface has it"),
    Plant("CTX-26", "another site", f"{OM}/work/rules.py", "ctx = context.OpContext()\n", says="acme.om.work.rules"),
    Plant("CTX-26", "by model_construct", f"{OM}/work/rules.py", "ctx = OpContext.model_construct()\n"),
    Plant("CTX-26", "by alias", f"{OM}/work/rules.py", "from acme.om.context import OpContext as C\n\nctx = C()\n"),
    Plant("CTX-26", "by copy", f"{OM}/work/rules.py", "def f(c: OpContext):\n    return c.model_copy(update={})\n"),
    Plant("CTX-26", "by replace", f"{OM}/work/rules.py", "def f(c: OpContext):\n    return replace(c, a=1)\n"),
    Plant("CTX-26", "by subclass", f"{OM}/work/rules.py", "class C(OpContext): ...\n\nctx = C()\n"),
    Plant("CTX-26", "by own class", f"{OM}/work/rules.py", "class C(OpContext):\n    def f(cls):\n        cls()\n"),
    Plant("CTX-26", "request stage", f"{OM}/work/rules.py", "ctx = RequestContext()\n", says="request_sites"),
    Plant("CTX-26", "in a script", "scripts/seed.py", "ctx = OpContext()\n", says="scripts.seed"),
    Plant("CTX-26", "site that builds none", f"{OM}/tenancy/impl/manager.py", "x = 1\n", says="constructs no"),
    Plant("CTX-30", "no require", _WORK_MANAGER, "pass", "ctx.require(Permission.WORK_ENQUEUE)", "enqueue must begin"),
    Plant("CTX-30", "require later", _WORK_MANAGER, 'does."""\n        item += "x"', 'does."""'),
    Plant("CTX-30", "no permission", _WORK_MANAGER, "require(item)", "require(Permission.WORK_ENQUEUE)"),
    Plant("CTX-30", "another's require", _WORK_MANAGER, "self.require(P", "ctx.require(P"),
    Plant(
        "CTX-30",
        "in a base",
        f"{OM}/work/impl/reads.py",
        "class R:\n    def f(self, c: OpContext): ...\n\n\nclass RImpl(R, AInterface): ...\n",
    ),
    Plant("CTX-30", "exempt, unknown", "pyproject.toml", "Impl.peeked", "Impl.peek", "no manager has such"),
    Plant("CTX-30", "exempt, requires", _WORK_MANAGER, "ctx.require(Permission.READ)", "return 1", "off the list"),
)
CLASS_PLANTS = (
    Plant("IFC-1", "no ABC", f"{OM}/work/manager.py", "Interface:", "Interface(ABC):", "derive from ABC"),
    Plant(
        "IFC-1",
        "not abstract",
        f"{OM}/work/manager.py",
        "async def e",
        "@abstractmethod\n    async def e",
        "abstract method",
    ),
    Plant(
        "IFC-1", "a body", f"{OM}/work/manager.py", 'lane."""\n        return "x"', 'lane."""\n        ...', "no body"
    ),
    Plant("IFC-1", "no docstring", f"{OM}/work/manager.py", "", '"""The lane."""\n        ', "needs a docstring"),
    Plant("IFC-2", "13 methods", f"{OM}/work/wide.py", _WIDE, says="13 methods"),
    Plant("IFC-3", "implements nothing", f"{OM}/work/lone.py", "class LoneImpl(Base): ...\n", says="LoneImpl"),
    Plant("IFC-4", "connects", _WORK_MANAGER, "connect(storage)", "lambda: connect(storage)", "calls connect"),
    Plant("IFC-4", "opens", _WORK_MANAGER, "Path(storage).open()", "lambda: connect(storage)", "calls open"),
    Plant("IFC-4", "engine", _WORK_MANAGER, "create_engine()", "lambda: connect(storage)", "calls create_engine"),
)
LAYER_PLANTS = (
    Plant("LAY-1", "from import", "infra/src/acme/infra/a.py", "from acme import om\n", says="nothing of om"),
    Plant("LAY-1", "plain import", "infra/src/acme/infra/a.py", "import acme.om.base\n"),
    Plant("LAY-1", "relative import", "infra/src/acme/infra/a.py", "from ..om import base\n"),
    Plant("LAY-1", "relative import of a package", "infra/src/acme/infra/a/__init__.py", "from ... import om\n"),
    Plant("LAY-1", "by name", "infra/src/acme/infra/a.py", 'x = import_module("acme.om.base")\n'),
    Plant("LAY-1", "inside a function", "infra/src/acme/infra/a.py", "def f():\n    import acme.om\n"),
    Plant("LAY-2", "manager", f"{OM}/work/rules.py", "from acme.workers.kit import loop\n", says="no worker"),
    Plant("LAY-3", "worker", "workers/kit/src/acme/workers/kit/a.py", "import acme.tools.bench\n", says="tools"),
    Plant("LAY-3", "script", "scripts/seed.py", "from acme.tools import bench\n"),
)
TABLE_PLANTS = (
    Plant(
        "STO-1", "no role", f"{OM}/work/storage/tables/b.py", 'class B:\n    __tablename__ = "b"\n', says="TABLE_ROLES"
    ),
    Plant("STO-1", "no scope", f"{OM}/storage/roles.py", "", ', "items": Scope.ORG', "missing from TABLE_SCOPES"),
    Plant("STO-1", "no table", f"{OM}/storage/roles.py", '"b": Scope.ORG, "orgs": Scope', '"orgs": Scope', "names b"),
    Plant(
        "STO-1", "no literal map", f"{OM}/storage/roles.py", "TABLE_SCOPES = f()\n\nX =", "TABLE_SCOPES =", "literal"
    ),
    Plant(
        "STO-1", "no literal entry", f"{OM}/storage/roles.py", "**more, 'orgs': Scope", '"orgs": Scope', "no literal"
    ),
    Plant("STO-1", "no literal name", f"{OM}/work/storage/tables/items.py", "ITEMS", '"items"', "string literal"),
    Plant(
        "STO-1", "elsewhere", f"{OM}/work/rows.py", 'class I:\n    __tablename__ = "items"\n', says="storage/tables/"
    ),
    Plant("STO-2", "across roles", _TABLES, "queue.items.id", "core.orgs.id", "crosses roles"),
    Plant("STO-2", "across by class", _TABLES, "ItemRow.id", "OrgRow.id", "crosses roles"),
    Plant("STO-2", "composite", _TABLES, 'ForeignKeyConstraint(["a"], ["items.id"])', 'ForeignKey("core.orgs.id")'),
    Plant("STO-2", "unreadable", _TABLES, "ForeignKey(target)", 'ForeignKey("core.orgs.id")', "'table.column'"),
)
MIGRATION_PLANTS = (
    Plant(
        "MIG-1",
        "other role's table",
        _ITEMS_SQL,
        "CREATE TABLE orgs ();\nCREATE UNLOGGED",
        "CREATE UNLOGGED",
        "sql/core/",
    ),
    Plant(
        "MIG-1", "unknown table", _ITEMS_SQL, "CREATE TABLE b ();\nCREATE UNLOGGED", "CREATE UNLOGGED", "TABLE_ROLES"
    ),
    Plant(
        "MIG-1",
        "other schema",
        _ITEMS_SQL,
        "UNLOGGED TABLE core.items",
        "UNLOGGED TABLE queue.items",
        "the schema core",
    ),
    Plant("MIG-1", "dropped", f"{SQL}/core/202611300930_users.up.sql", "core.old, users;", "core.old;", "names users"),
    Plant("MIG-2", "trigger", _ITEMS_SQL, "CREATE CONSTRAINT TRIGGER t;\nCREATE U", "CREATE U", "a trigger"),
    Plant("MIG-2", "function", _ITEMS_SQL, "create or replace\nfunction f();\nCREATE U", "CREATE U", "a function"),
    Plant(
        "MIG-3", "by schema", _ITEMS_SQL, "(org_id uuid REFERENCES core.orgs (id))", "(org_id uuid NOT NULL)", "core"
    ),
    Plant("MIG-3", "by map", _ITEMS_SQL, "(org_id uuid REFERENCES orgs)", "(org_id uuid NOT NULL)", "the role core"),
    Plant(
        "MIG-3", "unknown", _ITEMS_SQL, "(org_id uuid REFERENCES b)", "(org_id uuid NOT NULL)", "no migration creates"
    ),
    Plant("MIG-4", "not enabled", _ITEMS_SQL, "--", "ALTER TABLE queue.items ENABLE", "ENABLE ROW LEVEL"),
    Plant("MIG-4", "not forced", _ITEMS_SQL, "--", "ALTER TABLE ONLY", "FORCE ROW LEVEL"),
    Plant("MIG-4", "forced off", _ITEMS_SQL, "NO FORCE", "FORCE", "takes the fence"),
    Plant("MIG-4", "no policy", _ITEMS_SQL, "-- CREATE POLICY", "CREATE POLICY", "needs a CREATE POLICY"),
    Plant("MIG-5", "two heads", f"{VERSIONS}/core/202611300930_users.py", "None", '"202611300900"', "2 heads"),
    Plant("MIG-5", "dangling", f"{VERSIONS}/core/202611300930_users.py", '00900x"', '00900"', "does not have"),
    Plant("MIG-5", "back in time", f"{VERSIONS}/core/202611300900_orgs.py", '"202611300930"', "None", "no later"),
    Plant(
        "MIG-6", "no stamp", f"{VERSIONS}/queue/202611300901_items.py", "2026", "202611300901", "begins with the stamp"
    ),
    Plant("MIG-6", "script alone", f"{SQL}/queue/202611300902_more.up.sql", "SELECT 1;\n", says="has no wrapper"),
    Plant(
        "MIG-6",
        "no script",
        f"{VERSIONS}/queue/202611300902_b.py",
        'revision = "202611300902"\ndown_revision = "202611300901"\n',
    ),
)
TEXT_PLANTS = (
    Plant("SIZ-1", "long module", f"{OM}/work/long.py", _LONG, says="301 code lines"),
    Plant("SIZ-1", "long, no reason", f"{OM}/work/long.py", f"# size: so\n{_LONG}"),
    Plant("SIZ-1", "long test", "om/tests/test_long.py", _LONG),
    Plant("SIZ-2", "long function", f"{OM}/work/long.py", _BIG_FUNCTION, says="51 code lines"),
    Plant("SIZ-2", "long with a reason", f"{OM}/work/long.py", f"# size: it is what it is\n{_BIG_FUNCTION}"),
    Plant("SIZ-3", "long Nix file", "nix/image.nix", "x\n" * 81, says="81 code lines"),
    Plant("SIZ-3", "long Terraform file", "deployment/terraform/main.tf", "x\n" * 151),
    Plant("NAM-1", "module", f"{OM}/work/utils.py", "x = 1\n", says="utils"),
    Plant("NAM-1", "folder", f"{OM}/common/rules.py", "x = 1\n", says="common"),
    Plant("TXT-1", "in Python", f"{OM}/work/rules.py", "# from https://pypi" + ".org/simple\n", says="pypi"),
    Plant("TXT-1", "in a page", "README.md", "See files.python" + "hosted.org.\n"),
    Plant("TXT-2", "in Python", f"{OM}/work/rules.py", "# TO" + "DO: later\n", says="TO" + "DO marks"),
    Plant("TXT-2", "in SQL", f"{SQL}/core/202611300930_users.down.sql", "-- FIX" + "ME\n"),
    Plant("SRC-1", "no Python", f"{OM}/work/rules.py", "def f(:\n", says="does not parse"),
)
PLANTS = (*CONTEXT_PLANTS, *CLASS_PLANTS, *LAYER_PLANTS, *TABLE_PLANTS, *MIGRATION_PLANTS, *TEXT_PLANTS)
