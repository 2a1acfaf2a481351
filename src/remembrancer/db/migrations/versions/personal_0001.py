"""The personal tables.

Until the first tag a revision may be rewritten, so this one builds what the tables declare; at the
tag it becomes a written-out snapshot.
"""

from __future__ import annotations

from alembic import op

from remembrancer.db.migrations.model import personal

revision = "personal_0001"
down_revision = None
branch_labels = ("personal",)
depends_on = None


def upgrade() -> None:
    personal.create_all(op.get_bind())


def downgrade() -> None:
    raise NotImplementedError("Restore the back-up that was made before the upgrade.")
