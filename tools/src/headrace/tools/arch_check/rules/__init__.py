"""All rules, in the order in which they are listed."""

from headrace.tools.arch_check.rules import (
    classes,
    constructors,
    contexts,
    layers,
    migration_chains,
    migration_tables,
    names,
    permissions,
    sizes,
    tables,
    tenants,
    texts,
)

RULES = (
    *texts.PARSE_RULES,
    *tenants.RULES,
    *contexts.RULES,
    *permissions.RULES,
    *classes.RULES,
    *constructors.RULES,
    *layers.RULES,
    *tables.RULES,
    *migration_tables.RULES,
    *migration_chains.RULES,
    *sizes.RULES,
    *names.RULES,
    *texts.RULES,
)
