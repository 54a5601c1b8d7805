export { type RunTree, type TreeBody, type TreeItem, sectionsOf, treeOf } from './run-tree.js';
export { type StateName, isOpen, mostUrgent, stateOfStep, terminalColors } from './states.js';
export { countsText, leftText, stateText, stateWords, turnsText, waitText } from './state-text.js';
