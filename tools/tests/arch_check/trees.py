"""A small source tree that breaks no rule, to plant violations in."""

from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

from headrace.tools.arch_check.engine import check
from headrace.tools.arch_check.problems import Finding
from headrace.tools.arch_check.repository import Repository

OM = "om/src/acme/om"
SQL = "om/migrations/sql"
VERSIONS = "om/migrations/versions"

CLEAN = {
    "pyproject.toml": """
        [tool.arch-check.options.CTX-12]
        tenantless = ["WorkStorageInterface.claim_next"]

        [tool.arch-check.options.CTX-26]
        sites = ["acme.om.tenancy.impl.manager"]
        request_sites = ["acme.workers.kit.loop"]

        [tool.arch-check.options.CTX-30]
        exempt = { "WorkManagerImpl.peek" = "reads a gauge that holds no tenant's data" }
        """,
    f"{OM}/context.py": """
        class RequestContext: ...
        class SecurityContext: ...
        class OpContext(RequestContext): ...
        """,
    f"{OM}/tenancy/impl/manager.py": """
        from acme.om.context import OpContext, RequestContext, SecurityContext

        class TenancyManagerImpl(TenancyManagerInterface):
            def resume(self, rctx: RequestContext) -> OpContext:
                return OpContext(security=SecurityContext())
        """,
    f"{OM}/work/manager.py": '''
        class WorkManagerInterface(ABC):
            @abstractmethod
            async def enqueue(self, ctx: OpContext, item: str) -> str:
                """Store the item."""
                ...

            @property
            @abstractmethod
            def lane(self) -> str:
                """The lane."""
                ...
        ''',
    f"{OM}/work/impl/manager.py": '''
        class WorkManagerImpl(WorkManagerInterface):
            def __init__(self, storage: WorkStorageInterface) -> None:
                self._storage = storage
                self._connect = lambda: connect(storage)

            async def enqueue(self, ctx: OpContext, item: str) -> str:
                """Say what it does."""
                ctx.require(Permission.WORK_ENQUEUE)
                return self._stamped(ctx, item)

            async def claim(self, rctx: RequestContext) -> str:
                return await self._storage.claim_next(rctx.lane)

            def peek(self, ctx: OpContext) -> int:
                return 1

            def _stamped(self, ctx: OpContext, item: str) -> str:
                return item
        ''',
    f"{OM}/work/storage/__init__.py": '''
        class WorkStorageInterface(ABC):
            @abstractmethod
            async def claim_next(self, lane: str) -> str:
                """Claim the next item of any tenant: its row says which."""
                ...

            @abstractmethod
            async def read_item(self, org_id: UUID, item_id: UUID) -> str:
                """Read one item."""
                ...
        ''',
    f"{OM}/storage/root.py": '''
        class StorageInterface(ABC):
            @abstractmethod
            def get_work_storage(self) -> WorkStorageInterface:
                """The storage of work."""
                ...
        ''',
    f"{OM}/storage/roles.py": """
        TABLE_ROLES: Final = MappingProxyType({"orgs": Role.CORE, "users": Role.CORE, "items": Role.QUEUE})
        TABLE_SCOPES = {"orgs": Scope.IDENTITY, "users": Scope.IDENTITY, "items": Scope.ORG}
        """,
    f"{OM}/tenancy/storage/tables/rows.py": """
        class OrgRow(Table):
            __tablename__ = "orgs"

        class UserRow(Table):
            __tablename__ = "users"
            org_id = mapped_column(ForeignKey("core.orgs.id"))
            home_id = mapped_column(ForeignKey(OrgRow.id))
        """,
    f"{OM}/work/storage/tables/items.py": """
        class ItemRow(Table):
            __tablename__ = "items"
        """,
    f"{SQL}/core/202611300900_orgs.up.sql": """
        -- no create trigger here, and no REFERENCES queue.items
        CREATE TABLE core.orgs (id uuid PRIMARY KEY);
        CREATE TABLE IF NOT EXISTS core.members (org_id uuid REFERENCES core.orgs (id), note text DEFAULT 'it''s -- x');
        GRANT SELECT, REFERENCES ON core.orgs TO somebody;
        """,
    f"{SQL}/core/202611300900_orgs.down.sql": "DROP TABLE core.members, core.orgs CASCADE;",
    f"{SQL}/core/202611300930_users.up.sql": """
        ALTER TABLE core.members RENAME TO users;
        CREATE TABLE core.old (id uuid);
        DROP TABLE core.old;
        """,
    f"{SQL}/core/202611300930_users.down.sql": "ALTER TABLE core.users RENAME TO members;",
    f"{SQL}/queue/202611300901_items.up.sql": """
        CREATE UNLOGGED TABLE queue.items (org_id uuid NOT NULL);
        ALTER TABLE queue.items ENABLE ROW LEVEL SECURITY;
        ALTER TABLE ONLY queue.items FORCE ROW LEVEL SECURITY;
        CREATE POLICY tenant ON queue.items USING (true);
        """,
    f"{SQL}/queue/202611300901_items.down.sql": """
        ALTER TABLE queue.items DISABLE ROW LEVEL SECURITY;
        DROP TABLE queue.items;
        """,
    f"{VERSIONS}/core/202611300900_orgs.py": 'revision = "202611300900"\ndown_revision = None\n',
    f"{VERSIONS}/core/202611300930_users.py": 'revision: str = "202611300930"\ndown_revision = "202611300900"\n',
    f"{VERSIONS}/queue/202611300901_items.py": 'revision = "202611300901"\ndown_revision = None\n',
    "infra/src/acme/infra/cache/__init__.py": "import acme.infra.topics\n",
    "infra/tests/test_cache.py": "from acme import om, tools\n",
    "workers/kit/src/acme/workers/kit/loop.py": """
        from acme.om.context import RequestContext as Asked

        def mint() -> Asked:
            return Asked()
        """,
    "workers/kit/tests/test_loop.py": "from acme.om.context import OpContext\n\nctx = OpContext()\n",
    "tools/src/acme/tools/bench.py": "from acme.workers.kit import loop\n",
    "nix/image.nix": "{ }\n",
    "deployment/terraform/main.tf": "locals {}\n",
    "README.md": "# Acme\n\nNo TO" + "DO is left in the code.\n",
}


@dataclass(frozen=True)
class SourceTree:
    """A tree in a folder of its own."""

    root: Path

    def write(self, path: str, text: str) -> None:
        """Write one file, dedented."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text).lstrip("\n"), encoding="utf-8")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that the file has exactly once."""
        text = (self.root / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def findings(self) -> tuple[Finding, ...]:
        """Check the tree."""
        return check(Repository.load(self.root))


def clean_tree(root: Path) -> SourceTree:
    """Write the tree that breaks nothing."""
    tree = SourceTree(root)
    for path, text in CLEAN.items():
        tree.write(path, text)
    return tree
