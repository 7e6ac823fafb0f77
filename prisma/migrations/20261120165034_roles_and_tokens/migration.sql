-- DropForeignKey
ALTER TABLE "accounts" DROP CONSTRAINT "accounts_parent_id_fkey";

-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "address" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "company_name" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "company_phone" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "company_tax_id" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "phone" TEXT NOT NULL DEFAULT '',
ADD COLUMN     "role_id" UUID;

-- AlterTable
ALTER TABLE "sessions" ADD COLUMN     "api_token_id" UUID,
ADD COLUMN     "proxy_id" UUID;

-- CreateTable
CREATE TABLE "roles" (
    "id" UUID NOT NULL,
    "owner_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "permissions" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "roles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_tokens" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "permissions" TEXT[],
    "cidrs" TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "api_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "roles_owner_id_name_key" ON "roles"("owner_id", "name");

-- CreateIndex
CREATE UNIQUE INDEX "api_tokens_token_hash_key" ON "api_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "api_tokens_account_id_idx" ON "api_tokens"("account_id");

-- CreateIndex
CREATE INDEX "accounts_role_id_idx" ON "accounts"("role_id");

-- CreateIndex
CREATE INDEX "sessions_proxy_id_idx" ON "sessions"("proxy_id");

-- CreateIndex
CREATE INDEX "sessions_api_token_id_idx" ON "sessions"("api_token_id");

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "accounts"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "roles"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_proxy_id_fkey" FOREIGN KEY ("proxy_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_api_token_id_fkey" FOREIGN KEY ("api_token_id") REFERENCES "api_tokens"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "roles" ADD CONSTRAINT "roles_owner_id_fkey" FOREIGN KEY ("owner_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_tokens" ADD CONSTRAINT "api_tokens_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema cannot say.

-- Sub-accounts stand below a root account, and keep what they might do as a role of their own.
ALTER TABLE accounts ADD CONSTRAINT sub_accounts_have_a_parent CHECK (is_root OR parent_id IS NOT NULL);
INSERT INTO roles (id, owner_id, name, permissions, updated_at)
  SELECT id, parent_id, email, permissions, now() FROM accounts WHERE NOT is_root AND permissions <> '{}';
UPDATE accounts SET role_id = id WHERE NOT is_root AND permissions <> '{}';
ALTER TABLE accounts DROP COLUMN permissions;

-- What a role allows is known beside the accounts that hold it; what a token allows, by its own id.
CREATE FUNCTION notify_role() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('identity', id::text) FROM accounts WHERE role_id = OLD.id;
  RETURN NULL;
END $$;
CREATE TRIGGER roles_notify AFTER UPDATE ON roles FOR EACH ROW
  WHEN (OLD.permissions IS DISTINCT FROM NEW.permissions) EXECUTE FUNCTION notify_role();
CREATE TRIGGER api_tokens_notify_delete AFTER DELETE ON api_tokens FOR EACH ROW EXECUTE FUNCTION notify_identity();
