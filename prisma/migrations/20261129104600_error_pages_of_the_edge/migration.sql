-- Pages that replace errors of the edge only, and leave an origin's errors as they are.
ALTER TABLE error_pages ADD COLUMN edge_only boolean NOT NULL DEFAULT false;
