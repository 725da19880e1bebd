export {
  type ContextJudge,
  createContextJudge,
  type Judgement,
  type JudgeSettings,
  type JudgeSpend,
} from './context-judge.ts'
