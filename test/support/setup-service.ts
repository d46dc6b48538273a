import { afterAll } from 'vitest';
import { dropDatabases } from './create-test-database.ts';

afterAll(dropDatabases);
