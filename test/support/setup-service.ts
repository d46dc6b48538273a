import { afterAll } from 'vitest';
import { leaveDatabases } from './create-test-database.ts';

afterAll(leaveDatabases);
