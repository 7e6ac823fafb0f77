-- AlterTable
ALTER TABLE "accounts" ADD COLUMN     "login_notify" BOOLEAN NOT NULL DEFAULT true;

-- AlterTable
ALTER TABLE "login_challenges" ALTER COLUMN "code_hash" DROP NOT NULL;

-- CreateTable
CREATE TABLE "mailed_tokens" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "purpose" TEXT NOT NULL,
    "token_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mailed_tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "authenticator_setups" (
    "id" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "secret_sealed" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "authenticator_setups_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "authenticators" (
    "account_id" UUID NOT NULL,
    "secret_sealed" TEXT NOT NULL,
    "last_step" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "authenticators_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "recovery_codes" (
    "id" TEXT NOT NULL,
    "account_id" UUID NOT NULL,

    CONSTRAINT "recovery_codes_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "passkeys" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "backed_up" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),

    CONSTRAINT "passkeys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "passkey_challenges" (
    "id" UUID NOT NULL,
    "kind" "account_kind" NOT NULL,
    "account_id" UUID,
    "purpose" TEXT NOT NULL,
    "challenge" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenges_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "oidc_providers" (
    "client_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL,
    "issuer" TEXT NOT NULL,
    "oidc_client_id" TEXT NOT NULL,
    "secret_sealed" TEXT NOT NULL,
    "button_text" TEXT NOT NULL,
    "host" TEXT,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oidc_providers_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "oidc_sign_ins" (
    "id" TEXT NOT NULL,
    "kind" "account_kind" NOT NULL,
    "client_id" UUID NOT NULL,
    "key_hash" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "proof_sealed" TEXT NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "oidc_sign_ins_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "outgoing_mails" (
    "id" UUID NOT NULL,
    "sealed" TEXT NOT NULL,
    "tries" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "outgoing_mails_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "mailed_tokens_token_hash_key" ON "mailed_tokens"("token_hash");

-- CreateIndex
CREATE INDEX "mailed_tokens_account_id_idx" ON "mailed_tokens"("account_id");

-- CreateIndex
CREATE INDEX "authenticator_setups_account_id_idx" ON "authenticator_setups"("account_id");

-- CreateIndex
CREATE INDEX "recovery_codes_account_id_idx" ON "recovery_codes"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "passkeys_credential_id_key" ON "passkeys"("credential_id");

-- CreateIndex
CREATE INDEX "passkeys_account_id_idx" ON "passkeys"("account_id");

-- CreateIndex
CREATE INDEX "passkey_challenges_expires_at_idx" ON "passkey_challenges"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "oidc_providers_host_key" ON "oidc_providers"("host");

-- CreateIndex
CREATE INDEX "oidc_sign_ins_expires_at_idx" ON "oidc_sign_ins"("expires_at");

-- CreateIndex
CREATE INDEX "outgoing_mails_due_at_idx" ON "outgoing_mails"("due_at");

-- AddForeignKey
ALTER TABLE "mailed_tokens" ADD CONSTRAINT "mailed_tokens_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "authenticator_setups" ADD CONSTRAINT "authenticator_setups_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "authenticators" ADD CONSTRAINT "authenticators_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "accounts"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "oidc_providers" ADD CONSTRAINT "oidc_providers_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "clients"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- Whoever sends mail is told as soon as one is committed.
CREATE FUNCTION notify_mail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('mail', '');
  RETURN NULL;
END $$;
CREATE TRIGGER outgoing_mails_notify AFTER INSERT ON outgoing_mails FOR EACH STATEMENT EXECUTE FUNCTION notify_mail();
