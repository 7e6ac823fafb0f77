-- AlterTable
ALTER TABLE "domains" ADD COLUMN     "websocket_timeout_seconds" INTEGER NOT NULL DEFAULT 3600;
