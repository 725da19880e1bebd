export { conversationRoutes, conversationTreeRoutes } from './conversation-routes.ts'
