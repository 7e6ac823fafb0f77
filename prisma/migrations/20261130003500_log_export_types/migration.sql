-- Which log an export is of. `type` stays `access`: the release before runs beside this one, and knows no other.
ALTER TABLE "log_exports" ADD COLUMN "log" TEXT NOT NULL DEFAULT 'access';
