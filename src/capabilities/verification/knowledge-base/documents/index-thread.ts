import { isMainThread } from 'node:worker_threads'
import { serveThread } from '../../../../platform/threads/index.ts'
import { indexText } from './index-text.ts'

if (!isMainThread) serveThread(indexText)
