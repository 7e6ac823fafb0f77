-- CreateTable
CREATE TABLE "node_jobs" (
    "id" UUID NOT NULL,
    "node_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "system" JSONB,
    "fingerprint" TEXT,
    "keep_ssh" BOOLEAN NOT NULL DEFAULT false,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "claimed_by" UUID,
    "claimed_until" TIMESTAMPTZ(3),
    "created_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "node_jobs_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "node_job_steps" (
    "job_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "name" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'waiting',
    "fault" TEXT,
    "message" TEXT,
    "output" TEXT NOT NULL DEFAULT '',
    "started_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "node_job_steps_pkey" PRIMARY KEY ("job_id","position")
);

-- CreateIndex
CREATE INDEX "node_jobs_node_id_created_at_idx" ON "node_jobs"("node_id", "created_at");

-- CreateIndex
CREATE INDEX "node_jobs_state_due_at_idx" ON "node_jobs"("state", "due_at");

-- AddForeignKey
ALTER TABLE "node_jobs" ADD CONSTRAINT "node_jobs_node_id_fkey" FOREIGN KEY ("node_id") REFERENCES "nodes"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "node_job_steps" ADD CONSTRAINT "node_job_steps_job_id_fkey" FOREIGN KEY ("job_id") REFERENCES "node_jobs"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- One at a time on a machine.
CREATE UNIQUE INDEX "node_jobs_open_key" ON "node_jobs"("node_id") WHERE "state" IN ('waiting', 'processing');

-- Whoever works on them is woken when there is one, or when one is tried again.
CREATE FUNCTION tell_node_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('node_jobs', '');
  RETURN NULL;
END $$;
CREATE TRIGGER tell_node_jobs AFTER INSERT OR UPDATE OF due_at ON "node_jobs" FOR EACH STATEMENT EXECUTE FUNCTION tell_node_jobs();

SELECT watch('node_jobs');
