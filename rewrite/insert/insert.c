#include "rewrite/insert/insert.h"

const char *rw_obstacle_name(rw_obstacle obstacle)
{
    switch (obstacle) {
    case RW_BATCHABLE:
        return "batchable";
    case RW_OBSTACLE_RETURNING:
        return "returning";
    case RW_OBSTACLE_SEQUENCE:
        return "sequence";
    case RW_OBSTACLE_TRIGGER:
        return "trigger";
    case RW_OBSTACLE_EXPRESSION:
        return "expression";
    case RW_OBSTACLE_UNCOMPUTABLE:
        return "uncomputable";
    case RW_OBSTACLE_FORM:
        return "form";
    }
    return "unknown";
}
