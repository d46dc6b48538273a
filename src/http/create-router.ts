import express, { type Router } from 'express';

/** Creates a router with case-sensitive routes. Express takes this option per router, not from the app. */
export function createRouter(): Router {
  return express.Router({ caseSensitive: true });
}
