export type { ContextJudge, JudgeSettings } from './context-judge.ts'
export { openJudge } from './open-judge.ts'
