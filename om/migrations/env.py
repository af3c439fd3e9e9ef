"""What Alembic runs for one database role, on the connection that `headrace.om.storage.migrations` opened."""

from alembic import context

from headrace.om.storage.migration_scripts import MigrationRun

run: MigrationRun = context.config.attributes["run"]

# One transaction for each revision: a failed one leaves those before it in place and nothing of itself.
context.configure(
    connection=run.connection,
    version_table_schema=str(run.role),
    transaction_per_migration=True,
)
with context.begin_transaction():
    context.run_migrations()
