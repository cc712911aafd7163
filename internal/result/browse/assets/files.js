  finished();
