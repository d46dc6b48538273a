import express, { type Router } from 'express';

/** A router of ours: its routes are case-sensitive, which Express leaves to each router and not to the app. */
export function createRouter(): Router {
  return express.Router({ caseSensitive: true });
}
