-- CreateIndex
CREATE INDEX "certificate_events_at_idx" ON "certificate_events"("at");

-- CreateIndex
CREATE INDEX "certificate_orders_ended_at_idx" ON "certificate_orders"("ended_at");
