export { type AnsweringThread, createAnsweringThread, serveThread } from './answering-thread.ts'
