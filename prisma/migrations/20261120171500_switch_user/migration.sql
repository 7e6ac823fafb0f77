-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "proxy_session_id" UUID;

-- CreateIndex
CREATE INDEX "sessions_proxy_session_id_idx" ON "sessions"("proxy_session_id");

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_proxy_session_id_fkey" FOREIGN KEY ("proxy_session_id") REFERENCES "sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- Whoever acts as somebody else does so from a session of their own, and no longer than it lasts.
CREATE FUNCTION end_proxied_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE sessions SET revoked_at = NEW.revoked_at WHERE proxy_session_id = NEW.id AND revoked_at IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER sessions_end_proxied AFTER UPDATE ON sessions FOR EACH ROW
  WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION end_proxied_sessions();
