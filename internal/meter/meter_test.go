package meter

